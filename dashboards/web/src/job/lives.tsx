/** A name that was given to several jobs one after the other: the way from one to the other. */
import type { JobPage } from "../api/types";
import { jobHref } from "../components/joblink";
import { Moment } from "../components/moment";
import { PhaseState } from "../components/state";
import { useTranslate } from "../i18n";

export function Lives({ of: { job, lives, now_ms } }: { of: JobPage }) {
  const t = useTranslate();
  return (
    <nav class="waits" aria-label={t("job.lives", { n: lives.length })}>
      <span class="waits-cause">{t("job.lives", { n: lives.length })}</span>
      {[...lives].reverse().map((one) => (
        <a key={one.uid} href={jobHref({ ...job, uid: one.uid })} aria-current={one.uid === job.uid ? "page" : undefined} title={one.uid}>
          <Moment ms={one.created_ms ?? one.started_ms} near_ms={now_ms} />
          <PhaseState phase={one.phase} />
        </a>
      ))}
    </nav>
  );
}
