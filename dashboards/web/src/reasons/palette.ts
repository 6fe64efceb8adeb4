/**
 * One look for each reason: a family (its hue), a shade of it in light and in dark, and a pattern.
 *
 * The hues are Okabe and Ito's, spread over 25 reasons: warm = admission and quota, blue = nodes and their capacity,
 * green = placement rules, purple = controllers and schedulers, grey = not known. Colour is never alone: two reasons
 * that someone with a colour-vision deficiency could take for each other differ in pattern, and every mark has a label.
 * `tests/palette.test.ts` measures all of that. The order is the one in which charts stack.
 */

export type Family = "admission" | "node" | "placement" | "controller" | "unknown";
export type Pattern = "solid" | "diagonal" | "antidiagonal" | "rows" | "dots" | "hollow";

export interface Look {
  family: Family;
  light: string;
  dark: string;
  pattern: Pattern;
}

const look = (family: Family, light: string, dark: string, pattern: Pattern): Look => ({ family, light, dark, pattern });

export const LOOKS: Readonly<Record<string, Look>> = {
  not_admitted: look("admission", "#b37903", "#eec55e", "diagonal"),
  quota: look("admission", "#cf7000", "#f29b1d", "solid"),
  queue_limit: look("admission", "#be4500", "#eb681d", "solid"),
  outranked: look("admission", "#813c0b", "#ac713e", "diagonal"),
  gang_incomplete: look("controller", "#b8338a", "#e977bb", "diagonal"),
  pods_not_created: look("controller", "#822e88", "#b564c2", "rows"),
  insufficient_resource: look("node", "#0065b0", "#3e96ea", "solid"),
  fragmentation: look("node", "#1294cc", "#75caf2", "diagonal"),
  node_affinity: look("placement", "#008e60", "#37c695", "solid"),
  untolerated_taint: look("node", "#4241a8", "#7278e4", "diagonal"),
  node_unschedulable: look("node", "#5b73cd", "#92a6f1", "rows"),
  node_not_ready: look("node", "#064180", "#3772bb", "solid"),
  pod_affinity: look("placement", "#106c3e", "#2a9d67", "rows"),
  pod_anti_affinity: look("placement", "#056a5d", "#1aa291", "antidiagonal"),
  topology_spread: look("placement", "#079a94", "#61dbd1", "rows"),
  topology: look("placement", "#4e943e", "#83d670", "dots"),
  volume: look("placement", "#70790e", "#a5b13c", "rows"),
  port_conflict: look("placement", "#44581a", "#6a862d", "antidiagonal"),
  dra: look("placement", "#7c9128", "#c5db60", "antidiagonal"),
  waiting_victims: look("controller", "#ad65be", "#e1afed", "dots"),
  preemption_no_victim: look("controller", "#841c58", "#c14685", "solid"),
  scheduler_backlog: look("controller", "#885acb", "#b58eed", "antidiagonal"),
  binding: look("controller", "#c46b90", "#f9b9d0", "antidiagonal"),
  unknown: look("unknown", "#606369", "#95989f", "dots"),
  gap: look("unknown", "#7e8187", "#7c8087", "hollow"),
};

export const ORDER: readonly string[] = Object.keys(LOOKS);

/** The look of a reason; a code that this page does not know yet looks like `unknown` and keeps its own name. */
export function lookOf(reason: string): Look {
  return reason === OTHER ? OTHER_LOOK : (LOOKS[reason] ?? LOOKS["unknown"]!);
}

/** Where a reason stands in a stack; codes not known come last, but before `unknown` and `gap`. */
export function rank(reason: string): number {
  const at = ORDER.indexOf(reason);
  return at < 0 ? ORDER.indexOf("unknown") - 0.5 : at;
}

/** Code of the band into which a chart folds small reasons. */
export const OTHER = "other";

const OTHER_LOOK: Look = look("unknown", "#b4b8bf", "#4a515c", "solid");

/** The CSS variable that holds the shade for the theme in use. */
export const colourVar = (reason: string): string => `var(--reason-${reason === OTHER || reason in LOOKS ? reason : "unknown"})`;

/** Class of the pattern, see `styles/reasons.css`. */
export const patternClass = (reason: string): string => `pattern-${lookOf(reason).pattern}`;

/** Every shade by reason, for the theme in use. */
export const shades = (dark: boolean): [string, string][] =>
  Object.entries({ ...LOOKS, [OTHER]: OTHER_LOOK }).map(([reason, one]) => [reason, dark ? one.dark : one.light]);
