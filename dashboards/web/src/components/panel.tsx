/** A titled part of a page. */
import type { ComponentChildren } from "preact";

interface Props {
  title: string;
  aside?: ComponentChildren;
  children: ComponentChildren;
  class?: string;
  /** Contents touch the edges, as tables do. */
  flush?: boolean;
  /** The picture is of an earlier question. */
  dim?: boolean;
}

export function Panel({ title, aside, children, flush = false, dim = false, class: extra = "" }: Props) {
  return (
    <section class={`panel ${extra}`} aria-label={title} aria-busy={dim}>
      <header class="panel-head">
        <h2>{title}</h2>
        {aside && <div class="panel-aside">{aside}</div>}
      </header>
      <div class={`panel-body${flush ? " flush" : ""}${dim ? " dim" : ""}`}>{children}</div>
    </section>
  );
}
