/** How old the picture is: a calm badge in a replay, a mark when live, a banner when something is behind. */
import { freshness } from "../api/client";
import { isStale } from "../api/stale";
import { duration } from "../format/duration";
import { dayClock } from "../format/time";
import { useTranslate } from "../i18n";
import { alarmMs } from "../state/known";
import { prefs } from "../state/prefs";
import { href } from "../state/route";
import { useStore } from "../state/store";
import { Icon } from "./icons";

export function FreshChip() {
  const t = useTranslate();
  const fresh = useStore(freshness);
  const alarm = useStore(alarmMs);
  const { lang, zone } = useStore(prefs);
  if (!fresh || fresh.now_ms === null) return null;
  const at = dayClock(fresh.now_ms, lang, zone);
  if (fresh.replay) {
    return (
      <span class="chip" title={t(fresh.replay_over ? "fresh.replay_over_title" : "fresh.replay_title", { at })}>
        <Icon name="play" size={12} />
        <b>{t(fresh.replay_over ? "fresh.replay_over" : "fresh.replay")}</b>
        <span class="num chip-more">{at}</span>
      </span>
    );
  }
  const stale = isStale(fresh, alarm);
  const lag = fresh.lag_ms ?? 0;
  return (
    <span class={`chip ${stale ? "tone-warn" : ""}`} title={t("fresh.until", { at })}>
      <span class={`dot ${stale ? "dot-stale" : "dot-fresh"}`} aria-hidden="true" />
      <span class="num">{lag < 10_000 ? t("fresh.current") : t("fresh.behind", { lag: duration(lag) })}</span>
    </span>
  );
}

export function StaleBanner() {
  const t = useTranslate();
  const fresh = useStore(freshness);
  const alarm = useStore(alarmMs);
  if (!fresh || !isStale(fresh, alarm)) return null;
  return (
    <div class="banner tone-warn" role="status">
      <Icon name="violations" />
      <p>
        <b>{t("fresh.stale", { lag: duration(fresh.lag_ms ?? 0) })}</b> {t("fresh.stale_what")}
      </p>
      <a href={href(["pipeline"])}>{t("fresh.see_pipeline")}</a>
    </div>
  );
}
