/** Commands to paste into a shell. */
import type { Job } from "../api/types";
import { rfc3339 } from "../format/time";

/** Names of Kubernetes objects need no quotes; anything else gets them, since this is pasted into a shell. */
export const quoted = (text: string): string => (/^[\w.:@/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

export interface Exactly {
  /** Other clusters are known too. */
  cluster?: boolean;
  /** A newer job has the same name. */
  uid?: boolean;
  /** The moment that is looked at; null: the latest. */
  at_ms?: number | null;
}

/** What kubectl calls the kind: Volcano's jobs have the kind of Kubernetes' own, and `job` alone means the latter. */
const resourceOf = (kind: string, group: string | null): string => (kind === "Job" && group === "batch.volcano.sh" ? "vcjob" : kind.toLowerCase());

export function commandsOf(job: Job, group: string | null, exactly: Exactly = {}): string[] {
  const name = quoted(job.name);
  const namespace = quoted(job.namespace);
  const { cluster, uid, at_ms = null } = exactly;
  const more = [cluster && ` --cluster ${quoted(job.cluster)}`, uid && ` --uid ${quoted(job.uid)}`, at_ms !== null && ` --at ${rfc3339(at_ms)}`];
  return [`kube-collector why ${name} -n ${namespace}${more.filter(Boolean).join("")}`, `kubectl describe ${quoted(resourceOf(job.kind, group))} ${name} -n ${namespace}`];
}
