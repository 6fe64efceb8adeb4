/** Whether pages ask again by themselves: the reader's switch and the tab being seen. */
import { store } from "./store";

export const following = store(true);
export const seen = store(!document.hidden);
document.addEventListener("visibilitychange", () => seen.set(!document.hidden));
