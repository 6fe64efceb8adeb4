/** The way to a job's page. */
import type { Job } from "../api/types";
import { href } from "../state/route";

export const jobPath = (job: Job): string[] => ["jobs", job.cluster, job.namespace, job.kind, job.name];

export const jobHref = (job: Job, query: Record<string, string | number | null> = {}): string => href(jobPath(job), { uid: job.uid, ...query });

export function JobLink({ job, episode = null, note }: { job: Job; episode?: number | null; note?: string | undefined }) {
  return (
    <span class="joblink">
      <a class="joblink-name" href={jobHref(job, { episode })} title={job.name}>{job.name}</a>
      <span class="joblink-where">
        {job.namespace} · {job.kind}
        {note && ` · ${note}`}
      </span>
    </span>
  );
}
