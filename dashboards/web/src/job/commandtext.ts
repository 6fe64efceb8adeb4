/** Commands to paste into a shell. */
import type { Job } from "../api/types";

/** Names of Kubernetes objects need no quotes; anything else gets them, since this is pasted into a shell. */
export const quoted = (text: string): string => (/^[\w.:@/-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`);

export function commandsOf(job: Job): string[] {
  const name = quoted(job.name);
  const namespace = quoted(job.namespace);
  return [`kube-collector why ${name} -n ${namespace}`, `kubectl describe ${quoted(job.kind.toLowerCase())} ${name} -n ${namespace}`];
}
