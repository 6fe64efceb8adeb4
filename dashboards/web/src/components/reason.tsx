/** A reason as it looks everywhere: swatch with its pattern, title, and the resource it is about. */
import { detailWord } from "../i18n";
import { colourVar, patternClass } from "../reasons/palette";
import { prefs } from "../state/prefs";
import { useStore } from "../state/store";

export function Swatch({ reason }: { reason: string }) {
  return <span class={`swatch ${patternClass(reason)}`} style={{ "--c": colourVar(reason) }} aria-hidden="true" />;
}

export interface ReasonLike {
  reason: string;
  title: string;
  detail?: string | null;
  resource: string | null;
  /** Of a sum over jobs: all of them, the most first. */
  resources?: readonly string[];
}

/** `over`: it holds the job no more. */
export function ReasonName({ of, over = false }: { of: ReasonLike; over?: boolean }) {
  const { lang } = useStore(prefs);
  const more = [of.detail && detailWord(lang, of.reason, of.detail, over), of.resources?.join(", ") || of.resource].filter(Boolean).join(" · ");
  return (
    <span class="reason" title={[of.title, more, of.reason].filter(Boolean).join("\n")}>
      <Swatch reason={of.reason} />
      <span class="reason-text">
        <span class="reason-title">{of.title}</span>
        {more && <span class="reason-resource">{more}</span>}
      </span>
    </span>
  );
}
