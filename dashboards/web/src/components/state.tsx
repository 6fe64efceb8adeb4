/** State of a wait and of its promise: always a shape and a word, colour only helps. */
import { word } from "../i18n";
import type { JobRow, Phase, Sla } from "../api/types";
import { prefs } from "../state/prefs";
import { useStore } from "../state/store";
import { Icon, type IconName } from "./icons";

interface Shown {
  tone: "calm" | "good" | "warn" | "bad" | "quiet";
  icon: IconName;
}

const PROMISE: Record<Sla, Shown> = {
  none: { tone: "quiet", icon: "dash" },
  on_track: { tone: "calm", icon: "clock" },
  at_risk: { tone: "warn", icon: "violations" },
  violated: { tone: "bad", icon: "broken" },
  met: { tone: "good", icon: "check" },
  met_late: { tone: "bad", icon: "broken" },
  cancelled: { tone: "quiet", icon: "close" },
};

export function PromiseState({ sla }: { sla: Sla }) {
  const { lang } = useStore(prefs);
  const { tone, icon } = PROMISE[sla] ?? PROMISE.none;
  return (
    <span class={`pill tone-${tone}`}>
      <Icon name={icon} size={14} />
      {word(lang, "sla", sla)}
    </span>
  );
}

export function PhaseState({ phase }: { phase: Phase }) {
  const { lang } = useStore(prefs);
  return (
    <span class="phase">
      <span class={`dot dot-${phase}`} aria-hidden="true" />
      {word(lang, "phase", phase)}
    </span>
  );
}

/** Tone of a wait against its promise, for bars and figures. */
export function toneOf(row: Pick<JobRow, "sla">): Shown["tone"] {
  return (PROMISE[row.sla] ?? PROMISE.none).tone;
}
