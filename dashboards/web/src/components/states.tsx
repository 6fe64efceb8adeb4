/** What a part of the page shows when it has nothing to show yet, nothing at all, or something went wrong. */
import type { ComponentChildren } from "preact";

import type { Problem } from "../api/client";
import { useTranslate } from "../i18n";
import { Icon, type IconName } from "./icons";

/** Grey lines where text will stand. `lines`: widths in per cent. */
export function Skeleton({ lines = [92, 78, 85, 60], tall = false }: { lines?: number[]; tall?: boolean }) {
  const t = useTranslate();
  return (
    <div class={`skeleton${tall ? " tall" : ""}`} role="status">
      <span class="sr-only">{t("state.loading")}</span>
      {lines.map((width, i) => (
        <span key={i} class="bone" style={{ width: `${width}%` }} aria-hidden="true" />
      ))}
    </div>
  );
}

export function Empty({ title, what, icon = "check", children }: { title: string; what: string; icon?: IconName; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <span class="empty-icon"><Icon name={icon} /></span>
      <p class="empty-title">{title}</p>
      <p class="empty-what">{what}</p>
      {children}
    </div>
  );
}

/** The server's own words about what is wrong, and a way to try again. `kept`: older data stays below. */
export function ProblemNote({ problem, retry, kept = false }: { problem: Problem; retry: () => void; kept?: boolean }) {
  const t = useTranslate();
  const unreached = problem.status === 0;
  return (
    <div class="note tone-bad" role="alert">
      <Icon name="broken" />
      <div class="note-text">
        <p class="note-title">{unreached ? t("state.error_network") : problem.title}</p>
        <p>{unreached ? t("state.error_network_detail") : problem.detail}</p>
        {problem.hint && <p>{t("state.error_hint", { hint: problem.hint })}</p>}
        {kept && <p class="faint">{t("state.error_kept")}</p>}
        {problem.status > 0 && (
          <p class="faint num">
            {t("state.status", { status: problem.status })}
            {problem.instance && <span class="mono"> · {problem.instance}</span>}
          </p>
        )}
      </div>
      <button type="button" class="button" onClick={retry}>{t("state.retry")}</button>
    </div>
  );
}

/** Something to know that is no failure of the page. */
export function Note({ tone, icon, title, children }: { tone: "warn" | "calm"; icon: IconName; title: string; children?: ComponentChildren }) {
  return (
    <div class={`note tone-${tone}`}>
      <Icon name={icon} />
      <div class="note-text">
        <p class="note-title">{title}</p>
        {children}
      </div>
    </div>
  );
}
