/** Line icons, 16 px, in the colour of the text around them; always beside a word or a label, never alone in meaning. */
import type { ComponentChildren } from "preact";

const PATHS = {
  overview: "M2.5 9.5 6 6l2.5 2.5 5-5M2.5 13.5h11",
  jobs: "M2.5 4h11M2.5 8h11M2.5 12h7",
  reasons: "M3 13V9M6.5 13V5M10 13V7.5M13.5 13V3",
  violations: "M8 2.5 14 13H2L8 2.5ZM8 6.5v3M8 11.2v.3",
  queues: "M2.5 3.5h11v3h-11zM2.5 9.5h7v3h-7z",
  pipeline: "M2 8h3M11 8h3M5 5.5h6v5H5z",
  search: "M7 12a5 5 0 1 1 0-10 5 5 0 0 1 0 10ZM10.7 10.7 14 14",
  copy: "M5.5 5.5h8v8h-8zM3.5 10.5h-1v-8h8v1",
  check: "m3 8.5 3.2 3.2L13 4.8",
  link: "M6.5 9.5 9.5 6.5M7.5 4.5l1-1a2.8 2.8 0 0 1 4 4l-1 1M8.5 11.5l-1 1a2.8 2.8 0 0 1-4-4l1-1",
  help: "M6 6.2a2 2 0 1 1 2.6 2.2c-.4.2-.6.5-.6 1v.3M8 11.6v.2M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12Z",
  up: "m4 10 4-4 4 4",
  down: "m4 6 4 4 4-4",
  right: "m6 4 4 4-4 4",
  close: "m4 4 8 8M12 4l-8 8",
  pause: "M5.5 3.5v9M10.5 3.5v9",
  play: "M5 3.5v9l7-4.5-7-4.5Z",
  system: "M2.5 3h11v7.5h-11zM6 13h4",
  light: "M8 5a3 3 0 1 1 0 6 3 3 0 0 1 0-6ZM8 1.5v1M8 13.5v1M1.5 8h1M13.5 8h1M3.4 3.4l.7.7M11.9 11.9l.7.7M3.4 12.6l.7-.7M11.9 4.1l.7-.7",
  dark: "M13 9.5A5.5 5.5 0 0 1 6.5 3 5.5 5.5 0 1 0 13 9.5Z",
  table: "M2.5 3h11v10h-11zM2.5 6.5h11M2.5 9.8h11M6.5 6.5V13",
  bulb: "M6 11.5c0-1.3-2-2-2-4.5a4 4 0 0 1 8 0c0 2.5-2 3.2-2 4.5ZM6.5 14h3",
  clock: "M8 14A6 6 0 1 0 8 2a6 6 0 0 0 0 12ZM8 4.8V8l2.2 1.6",
  broken: "M5.5 2h5L14 5.5v5L10.5 14h-5L2 10.5v-5L5.5 2ZM8 5v3.5M8 10.8v.2",
  dash: "M4 8h8",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 16 16" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The product's mark: a wait in parts, and the promise. */
export function Mark() {
  return (
    <svg class="mark" width="24" height="24" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <rect class="mark-ground" width="32" height="32" rx="7" />
      <rect class="mark-a" x="6" y="12" width="9" height="8" rx="1.5" />
      <rect class="mark-b" x="16" y="12" width="5" height="8" rx="1.5" />
      <rect class="mark-c" x="24" y="12" width="3" height="8" rx="1.5" />
      <rect class="mark-line" x="22" y="7" width="1.5" height="18" rx=".75" />
    </svg>
  );
}

export function Labelled({ icon, children }: { icon: IconName; children: ComponentChildren }) {
  return (
    <span class="labelled">
      <Icon name={icon} />
      <span>{children}</span>
    </span>
  );
}
