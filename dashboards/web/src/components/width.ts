/** Width of an element, kept up to date. */
import { useEffect, useState } from "preact/hooks";
import type { RefObject } from "preact";

export function useWidth(of: RefObject<HTMLElement | null>): number {
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = of.current;
    if (!element) return;
    const seen = new ResizeObserver(() => setWidth(element.clientWidth));
    seen.observe(element);
    setWidth(element.clientWidth);
    return () => seen.disconnect();
  }, [of]);
  return width;
}
