/** A handle under the bar: the answer as it was at any moment of the wait. A native range input, so keys work. */
import { useEffect, useRef, useState } from "preact/hooks";

import { duration } from "../format/duration";
import { clock } from "../format/time";
import { useTranslate } from "../i18n";
import { prefs } from "../state/prefs";
import { useStore } from "../state/store";
import type { Layout } from "../timeline/layout";

const STEPS = 1000;
const SETTLE_MS = 90;

export function Scrubber({ line, at_ms, onMoment }: { line: Layout; at_ms: number | null; onMoment: (ms: number | null) => void }) {
  const t = useTranslate();
  const { lang, zone } = useStore(prefs);
  const timer = useRef(0);
  const [dragged, setDragged] = useState<number | null>(null);
  useEffect(() => setDragged(null), [at_ms]);
  useEffect(() => () => clearTimeout(timer.current), []);
  const end = Math.round(line.end * STEPS);
  const value = dragged ?? (at_ms === null ? end : Math.round(line.scale.place(at_ms) * STEPS));
  const ms = dragged === null && at_ms !== null ? at_ms : line.scale.time(Math.min(line.end, value / STEPS));
  const moved = (next: number): void => {
    setDragged(next);
    clearTimeout(timer.current);
    timer.current = window.setTimeout(() => onMoment(next >= end ? null : line.scale.time(next / STEPS)), SETTLE_MS);
  };
  const elapsed = duration(Math.max(0, ms - line.scale.from));
  return (
    <div class={`scrubber${value >= end ? "" : " off"}`}>
      <input
        type="range"
        min={0}
        max={STEPS}
        step={1}
        value={value}
        aria-label={t("job.moment_what")}
        title={t("job.moment_what")}
        aria-valuetext={`${clock(ms, lang, zone)}, +${elapsed}`}
        onInput={(event) => moved(Math.min(end, Number(event.currentTarget.value)))}
      />
      {value < end ? (
        <output class="scrubber-at num" style={{ left: `${value / (STEPS / 100)}%` }}>
          +{elapsed}
        </output>
      ) : (
        <span class="scrubber-hint" aria-hidden="true">{t("job.moment_what")}</span>
      )}
    </div>
  );
}
