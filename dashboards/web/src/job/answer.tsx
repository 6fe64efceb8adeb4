/** The sentence, as large as it matters, unchanged as the product says it everywhere; and what would help. */
import type { Episode, Why } from "../api/types";
import { CopyButton } from "../components/controls";
import { Icon } from "../components/icons";
import { PhaseState, PromiseState } from "../components/state";
import { Skeleton } from "../components/states";
import { duration } from "../format/duration";
import { dayClock } from "../format/time";
import { useTranslate } from "../i18n";
import { prefs } from "../state/prefs";
import { adjust } from "../state/route";
import { useStore } from "../state/store";

interface Props {
  why: Why | null;
  episode: Episode | null;
  at_ms: number | null;
  dim: boolean;
  failed: boolean;
}

export function Answer({ why, episode, at_ms, dim, failed }: Props) {
  const t = useTranslate();
  if (!why) return failed ? null : <div class="answer"><Skeleton lines={[85, 40]} /></div>;
  return (
    <section class={`answer${dim ? " dim" : ""}`} aria-busy={dim}>
      {at_ms !== null && <AsOf at_ms={at_ms} elapsed_ms={episode ? Math.max(0, at_ms - episode.started_ms) : 0} />}
      <p class="sentence" aria-live="polite">{why.sentence}</p>
      {why.helps.length > 0 && (
        <div class="helps">
          <Icon name="bulb" />
          <div>
            <h2>{t("job.helps")}</h2>
            {why.helps.map((help) => <p key={help}>{help}</p>)}
          </div>
        </div>
      )}
    </section>
  );
}

/** State, and what to take along. */
export function Heading({ why }: { why: Why }) {
  const t = useTranslate();
  return (
    <>
      <span class="trail-state">
        <PhaseState phase={why.phase} />
        {why.sla !== "cancelled" && <PromiseState sla={why.sla} />}
      </span>
      <span class="trail-actions">
        <CopyButton text={why.sentence} label={t("job.copy_sentence")} />
        <CopyButton text={() => location.href} label={t("job.copy_link")} icon="link" />
      </span>
    </>
  );
}

function AsOf({ at_ms, elapsed_ms }: { at_ms: number; elapsed_ms: number }) {
  const t = useTranslate();
  const { lang, zone } = useStore(prefs);
  return (
    <span class="as-of">
      <Icon name="clock" size={14} />
      <span class="num">{t("job.as_of", { at: dayClock(at_ms, lang, zone), elapsed: duration(elapsed_ms) })}</span>
      <button type="button" class="link" onClick={() => adjust({ at: null })}>{t("job.back_to_now")}</button>
    </span>
  );
}
