/** What a part of a wait is known from, in words. Pure. */
import type { Segment } from "../api/types";
import { word } from "../i18n/catalogue";
import type { Lang } from "../state/choice";

/** How Kueue begins what it says in a condition of a job's Workload, whether the job has pods or not. */
const KUEUE = /^(couldn't assign flavors|(Cluster|Local)Queue |Workload |Waiting for all pods )/i;

/** A condition may be of any object of the job; where the detail or the words say of which one, that one is named. */
export function knownFrom(lang: Lang, { evidence, detail, message }: Pick<Segment, "evidence" | "detail" | "message">): string {
  if (!evidence) return "";
  if (evidence !== "condition") return word(lang, "evidence", evidence);
  const of = KUEUE.test(message ?? "") ? "workload" : detail;
  const exact = of ? word(lang, "evidence.condition", of) : of;
  return exact && exact !== of ? exact : word(lang, "evidence", evidence);
}
