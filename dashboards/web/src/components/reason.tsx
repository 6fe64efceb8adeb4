/** A reason as it looks everywhere: swatch with its pattern, title, and the resource it is about. */
import { colourVar, patternClass } from "../reasons/palette";

export function Swatch({ reason }: { reason: string }) {
  return <span class={`swatch ${patternClass(reason)}`} style={{ "--c": colourVar(reason) }} aria-hidden="true" />;
}

export interface ReasonLike {
  reason: string;
  title: string;
  resource: string | null;
}

export function ReasonName({ of }: { of: ReasonLike }) {
  return (
    <span class="reason" title={`${of.title}${of.resource ? ` · ${of.resource}` : ""}\n${of.reason}`}>
      <Swatch reason={of.reason} />
      <span class="reason-text">
        <span class="reason-title">{of.title}</span>
        {of.resource && <span class="reason-resource">{of.resource}</span>}
      </span>
    </span>
  );
}
