/**
 * A wait as one bar: its parts by reason, the promise as a line, what lies past it hatched, the present if it lasts.
 *
 * Drawn with elements and not on a canvas: text stays sharp and can be read aloud, each part is a button, and the bar is
 * walked with arrow keys. Colours lie in one layer, the hatching above them, words and buttons on top.
 */
import { useMemo, useRef } from "preact/hooks";

import type { Episode } from "../api/types";
import { useWidth } from "../components/width";
import { duration } from "../format/duration";
import { percent } from "../format/number";
import { full } from "../format/time";
import { useTranslate } from "../i18n";
import { colourVar, patternClass } from "../reasons/palette";
import { prefs } from "../state/prefs";
import { useStore } from "../state/store";
import { layout, type Layout } from "../timeline/layout";
import { Scrubber } from "./scrubber";

interface Props {
  episode: Episode;
  now_ms: number;
  at_ms: number | null;
  marked: number | null;
  held: number | null;
  onPoint: (n: number | null) => void;
  onHold: (n: number | null) => void;
  onMoment: (ms: number | null) => void;
}

const part = (share: number): string => `${(share * 100).toFixed(4)}%`;

/** Narrower parts carry no words, or only how long they lasted. */
const WORDS_PX = 44;
const TITLE_PX = 72;

/** What the label past the promise needs, alone and beside that of the promise. Without room the sentence has to do. */
const OVER_PX = 200;
const BOTH_PX = 320;

export function Timeline(props: Props) {
  const { episode, now_ms, at_ms } = props;
  const t = useTranslate();
  const bar = useRef<HTMLDivElement>(null);
  const width = useWidth(bar);
  const line = useMemo(() => layout(episode, now_ms, width), [episode, now_ms, width]);
  return (
    <div class="timeline">
      <Above line={line} episode={episode} width_px={width} />
      <div class="tl-bar" ref={bar}>
        <Ground line={line} marked={props.marked} />
        {line.promise !== null && line.end > line.promise && <div class="tl-past" style={{ left: part(line.promise), width: part(line.end - line.promise) }} />}
        {at_ms !== null && <div class="tl-after" style={{ left: part(line.scale.place(at_ms)), right: "0" }} />}
        <Words line={line} width_px={width} />
        <Buttons {...props} line={line} />
        {line.promise !== null && <div class="tl-promise" style={{ left: part(line.promise) }} />}
        {line.open && <div class="tl-now" style={{ left: part(line.end) }} />}
      </div>
      <div class="tl-axis" aria-hidden="true">
        {line.ticks.map((tick) => (
          <span key={tick.elapsed_ms} style={{ left: part(tick.at) }} class={tick.at > 0.97 ? "last" : ""}>
            {tick.elapsed_ms === 0 ? "0" : duration(tick.elapsed_ms)}
          </span>
        ))}
      </div>
      <Scrubber line={line} at_ms={at_ms} onMoment={props.onMoment} />
      <p class="sr-only">{t("job.keys")}</p>
    </div>
  );
}

/** Labels over the bar: the promise, how far past it the wait is, and the present. */
function Above({ line, episode, width_px }: { line: Layout; episode: Episode; width_px: number }) {
  const t = useTranslate();
  const { lang, zone } = useStore(prefs);
  const promise = duration(episode.promise_ms ?? 0);
  const at = episode.deadline_ms === null ? "" : t("job.promise_at", { at: full(episode.deadline_ms, lang, zone) });
  const over = line.promise !== null && episode.overrun_ms ? t("job.past", { over: duration(episode.overrun_ms) }) : "";
  const left = line.promise !== null && line.promise > 0.5;
  const roomRight = line.promise !== null && (1 - line.promise) * width_px > OVER_PX;
  const roomBeside = line.promise !== null && (left ? line.promise : 1 - line.promise) * width_px > BOTH_PX;
  const overLabel = over && <span class="tone-bad">{over}</span>;
  return (
    <div class="tl-above">
      {line.promise !== null && (
        <span class={`tl-label${left ? " leftward" : ""}`} style={left ? { right: part(1 - line.promise) } : { left: part(line.promise) }} title={at}>
          <b>{t("job.promise_line", { promise })}</b>
          {!(left && roomRight) && roomBeside && overLabel}
        </span>
      )}
      {line.promise !== null && left && roomRight && over && (
        <span class="tl-label" style={{ left: part(line.promise) }}>{overLabel}</span>
      )}
      {line.beyond_ms !== null && (
        <span class="tl-label tl-label-beyond" title={at}>
          {t("job.promise_beyond", { promise, left: duration(line.beyond_ms) })} →
        </span>
      )}
    </div>
  );
}

function Ground({ line, marked }: { line: Layout; marked: number | null }) {
  return (
    <div class={`tl-ground${marked !== null ? " pointing" : ""}`} aria-hidden="true">
      {line.parts.map(({ segment, left, width, open }) => (
        <div
          key={segment.n}
          class={`tl-part${segment.n === marked ? " marked" : ""}${open ? " open" : ""}${segment.estimated ? " estimated" : ""}`}
          style={{ left: part(left), width: part(width), "--c": colourVar(segment.reason) }}
        >
          <span class={`tl-band ${patternClass(segment.reason)}`} />
        </div>
      ))}
    </div>
  );
}

/** One stop for the Tab key; arrows walk, Home and End jump, Enter holds, Escape lets go. */
function Buttons({ episode, line, marked, held, onPoint, onHold }: Props & { line: Layout }) {
  const t = useTranslate();
  const { lang } = useStore(prefs);
  const group = useRef<HTMLDivElement>(null);
  const stop = marked ?? episode.segments[0]?.n;
  const step = (event: KeyboardEvent): void => {
    const buttons = [...(group.current?.querySelectorAll("button") ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLButtonElement);
    const next = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: buttons.length - 1 }[event.key];
    if (event.key === "Escape") onHold(null);
    if (next === undefined) return;
    event.preventDefault();
    buttons[Math.max(0, Math.min(buttons.length - 1, next))]?.focus();
  };
  const total = Math.max(1, episode.wait_ms);
  return (
    <div class="tl-buttons" ref={group} role="group" aria-label={t("job.segments")} onKeyDown={step} onMouseLeave={() => onPoint(null)}>
      {line.parts.map((placed) => {
        const { segment } = placed;
        const share = percent(Math.min(1, segment.ms / total), lang, 1);
        return (
          <button
            key={segment.n}
            type="button"
            class={`tl-button${segment.n === held ? " held" : ""}`}
            tabIndex={segment.n === stop ? 0 : -1}
            aria-pressed={segment.n === held}
            aria-label={t("job.part_aria", { n: segment.n, total: episode.segments.length, title: segment.title, ms: duration(segment.ms), share })}
            style={{ left: part(placed.left), width: part(placed.width) }}
            onMouseEnter={() => onPoint(segment.n)}
            onFocus={() => onPoint(segment.n)}
            onBlur={() => onPoint(null)}
            onClick={() => onHold(segment.n)}
          />
        );
      })}
    </div>
  );
}

/** Words lie between the colours and the buttons, which carry all of them (and more) as their name. */
function Words({ line, width_px }: { line: Layout; width_px: number }) {
  return (
    <div class="tl-layer" aria-hidden="true">
      {line.parts
        .filter(({ width }) => width * width_px >= WORDS_PX)
        .map(({ segment, left, width }) => (
          <span key={segment.n} class="tl-words" style={{ left: part(left), width: part(width) }}>
            {width * width_px >= TITLE_PX && <span class="tl-title">{segment.title}</span>}
            <span class="tl-time num">{segment.estimated ? "≈ " : ""}{duration(segment.ms)}</span>
          </span>
        ))}
    </div>
  );
}
