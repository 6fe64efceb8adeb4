/** Heads of tables: a label, or a link that sorts. */
import { useTranslate } from "../i18n";
import { Icon } from "./icons";

export interface Column {
  id: string;
  label: string;
  /** The API's name to sort by. */
  sort?: string;
  right?: boolean;
}

/** `sort`: the API's word, `-` before it for descending. */
export function Head({ columns, sort, onSort }: { columns: readonly Column[]; sort?: string; onSort?: (sort: string) => void }) {
  return (
    <thead>
      <tr>
        {columns.map((column) => (
          <th key={column.id} scope="col" class={`col-${column.id}${column.right ? " right" : ""}`} aria-sort={direction(column, sort)}>
            {column.sort && onSort ? <SortButton column={column} sort={sort ?? ""} onSort={onSort} /> : column.label}
          </th>
        ))}
      </tr>
    </thead>
  );
}

function SortButton({ column, sort, onSort }: { column: Column; sort: string; onSort: (sort: string) => void }) {
  const t = useTranslate();
  const down = sort === `-${column.sort}`;
  const up = sort === column.sort;
  return (
    <button type="button" class={`sort${up || down ? " on" : ""}`} title={t("jobs.sort", { column: column.label })} onClick={() => onSort(down ? column.sort! : `-${column.sort}`)}>
      {column.label}
      <Icon name={up ? "up" : "down"} size={12} />
    </button>
  );
}

function direction(column: Column, sort: string | undefined): "ascending" | "descending" | "none" | undefined {
  if (!column.sort || sort === undefined) return undefined;
  if (sort === column.sort) return "ascending";
  return sort === `-${column.sort}` ? "descending" : "none";
}
