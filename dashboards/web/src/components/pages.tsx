/** Under a list that has more rows than one page: where one is, and on. */
import { count } from "../format/number";
import { useTranslate } from "../i18n";
import { PAGE_SIZE } from "../lists/query";
import { prefs } from "../state/prefs";
import { adjust, useRoute } from "../state/route";
import { useStore } from "../state/store";

interface Props {
  label: string;
  shown: number;
  total: number;
  /** Cursor of the page behind this one. */
  next: string | null;
}

export function Pages({ label, shown, total, next }: Props) {
  const t = useTranslate();
  const { lang } = useStore(prefs);
  const { query } = useRoute();
  const page = Number(query["page"] ?? 1);
  if (!next && page === 1) return null;
  const from = (page - 1) * PAGE_SIZE;
  return (
    <nav class="pages" aria-label={label}>
      <span class="num faint">{t("jobs.range", { from: count(from + 1, lang), to: count(from + shown, lang), total: count(total, lang) })}</span>
      {page > 1 && <button type="button" class="button" onClick={() => adjust({ cursor: null, page: null })}>{t("jobs.first")}</button>}
      {next && <button type="button" class="button" onClick={() => adjust({ cursor: next, page: page + 1 })}>{t("jobs.next")}</button>}
    </nav>
  );
}
