/** Commands to paste into a shell. */
import type { Job } from "../api/types";

/** Names of Kubernetes objects need no quotes; anything else gets them, since this is pasted into a shell. */
export const quoted = (text: string): string => (/^[\w.:@/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

export interface Exactly {
  /** Other clusters are known too. */
  cluster?: boolean;
  /** A newer job has the same name. */
  uid?: boolean;
}

/** What kubectl calls the kind: Volcano's jobs have the kind of Kubernetes' own, and `job` alone means the latter. */
const resourceOf = (kind: string, group: string | null): string => (kind === "Job" && group === "batch.volcano.sh" ? "vcjob" : kind.toLowerCase());

export function commandsOf(job: Job, group: string | null, exactly: Exactly = {}): string[] {
  const name = quoted(job.name);
  const namespace = quoted(job.namespace);
  const more = `${exactly.cluster ? ` --cluster ${quoted(job.cluster)}` : ""}${exactly.uid ? ` --uid ${quoted(job.uid)}` : ""}`;
  return [`kube-collector why ${name} -n ${namespace}${more}`, `kubectl describe ${quoted(resourceOf(job.kind, group))} ${name} -n ${namespace}`];
}
