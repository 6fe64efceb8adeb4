/** Title of the tab: the page, then the product. */
import { useEffect } from "preact/hooks";

export function useTitle(text: string): void {
  useEffect(() => {
    document.title = `${text} · kube-collector`;
  }, [text]);
}
