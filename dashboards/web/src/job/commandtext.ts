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

export function commandsOf(job: Job, exactly: Exactly = {}): string[] {
  const name = quoted(job.name);
  const namespace = quoted(job.namespace);
  const more = `${exactly.cluster ? ` --cluster ${quoted(job.cluster)}` : ""}${exactly.uid ? ` --uid ${quoted(job.uid)}` : ""}`;
  return [`kube-collector why ${name} -n ${namespace}${more}`, `kubectl describe ${quoted(job.kind.toLowerCase())} ${name} -n ${namespace}`];
}
