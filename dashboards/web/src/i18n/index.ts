/** Texts in the reader's language. */
import { useMemo } from "preact/hooks";

import { prefs } from "../state/prefs";
import { useStore } from "../state/store";
import { translate, type MessageId, type Places } from "./catalogue";

export { detailWord, word, type MessageId } from "./catalogue";

export type Translate = (id: MessageId, places?: Places) => string;

export function useTranslate(): Translate {
  const { lang } = useStore(prefs);
  return useMemo(() => (id, places) => translate(lang, id, places), [lang]);
}
