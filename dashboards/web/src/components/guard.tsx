/** An error inside a page must not take the frame away: it is said, and everything else still works. */
import { Component, type ComponentChildren } from "preact";

import type { Problem } from "../api/client";
import { useTranslate } from "../i18n";
import { ProblemNote } from "./states";

interface Props {
  /** Another place starts anew. */
  place: string;
  children: ComponentChildren;
}

export class Guard extends Component<Props, { error: Error | null }> {
  override state = { error: null as Error | null };

  static override getDerivedStateFromError(error: Error): { error: Error } {
    return { error };
  }

  override componentDidUpdate(before: Props): void {
    if (before.place !== this.props.place && this.state.error) this.setState({ error: null });
  }

  override render() {
    const { error } = this.state;
    return error ? <Broken error={error} retry={() => this.setState({ error: null })} /> : this.props.children;
  }
}

function Broken({ error, retry }: { error: Error; retry: () => void }) {
  const t = useTranslate();
  const problem: Problem = { status: -1, title: t("state.broken"), detail: String(error) };
  return <ProblemNote problem={problem} retry={retry} />;
}
