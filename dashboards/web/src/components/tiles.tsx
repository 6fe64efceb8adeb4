/** Figures at the top of a page; each is a link to the rows behind it. */
import type { ComponentChildren } from "preact";

export function Tiles({ children }: { children: ComponentChildren }) {
  return <div class="tiles">{children}</div>;
}

interface Props {
  label: string;
  value: string;
  note: string;
  href: string;
  tone?: "good" | "warn" | "bad" | "quiet";
  /** 0 to 1, drawn as a line under the figure. */
  meter?: number | null;
}

export function Tile({ label, value, note, href, tone, meter = null }: Props) {
  return (
    <a class={`tile${tone ? ` tone-${tone}` : ""}`} href={href}>
      <span class="tile-label">{label}</span>
      <span class="tile-value num">{value}</span>
      {meter !== null && (
        <span class="tile-meter" aria-hidden="true">
          <span style={{ width: `${meter * 100}%` }} />
        </span>
      )}
      <span class="tile-note" title={note}>{note}</span>
    </a>
  );
}
