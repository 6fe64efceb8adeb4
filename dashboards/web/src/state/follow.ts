/** What the switch of following shows. Pure. */
import type { MessageId } from "../i18n/catalogue";

interface Known {
  /** The reader wants news. */
  on: boolean;
  /** The server answered last. */
  answered: boolean;
  /** Nothing is played any more: no news will come, so nothing is live and there is nothing to stop. */
  over: boolean;
}

/** Class of the dot and text; null where there is nothing to switch. */
export function followOf({ on, answered, over }: Known): [string, MessageId] | null {
  if (!on) return ["dot-off", "frame.paused"];
  if (!answered) return ["dot-broken", "frame.unreached"];
  return over ? null : ["dot-live", "frame.live"];
}
