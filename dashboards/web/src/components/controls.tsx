/** The few controls of the page. */
import { useEffect, useState } from "preact/hooks";

import { useTranslate } from "../i18n";
import { Icon, type IconName } from "./icons";

export interface Choice {
  value: string;
  label: string;
  icon?: IconName;
}

interface ChoiceProps {
  label: string;
  choices: readonly Choice[];
  value: string;
  onChange(value: string): void;
}

/** A few choices side by side; real radio buttons, so arrow keys and screen readers work as they should. */
export function Segmented({ label, choices, value, onChange, iconsOnly = false }: ChoiceProps & { iconsOnly?: boolean }) {
  return (
    <fieldset class="segmented">
      <legend class="sr-only">{label}</legend>
      {choices.map((choice) => (
        <label key={choice.value} title={iconsOnly ? `${label}: ${choice.label}` : undefined}>
          <input type="radio" name={label} value={choice.value} checked={choice.value === value} onChange={() => onChange(choice.value)} />
          <span>
            {choice.icon && <Icon name={choice.icon} size={14} />}
            <span class={iconsOnly ? "sr-only" : ""}>{choice.label}</span>
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** A native choice of many; the first entry is "any". */
export function Select({ label, any, choices, value, onChange }: ChoiceProps & { any: string }) {
  const known = value === "" || choices.some((choice) => choice.value === value);
  return (
    <label class={`select${value ? " chosen" : ""}`}>
      <span class="sr-only">{label}</span>
      <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
        <option value="">{any}</option>
        {!known && <option value={value}>{value}</option>}
        {choices.map((choice) => (
          <option key={choice.value} value={choice.value}>{choice.label}</option>
        ))}
      </select>
      <Icon name="down" size={12} />
    </label>
  );
}

/** Copies a text and says so for a moment. */
export function CopyButton({ text, label, icon = "copy", quiet = false }: { text: string | (() => string); label: string; icon?: IconName; quiet?: boolean }) {
  const t = useTranslate();
  const [done, setDone] = useState(false);
  useEffect(() => {
    if (!done) return;
    const timer = setTimeout(() => setDone(false), 1600);
    return () => clearTimeout(timer);
  }, [done]);
  const copy = async (): Promise<void> => {
    await write(typeof text === "function" ? text() : text);
    setDone(true);
  };
  return (
    <button type="button" class={quiet ? "button quiet" : "button"} onClick={() => void copy()} title={label} aria-label={label}>
      <Icon name={done ? "check" : icon} size={14} />
      {!quiet && <span>{done ? t("job.copied") : label}</span>}
      <span class="sr-only" role="status">{done ? t("job.copied") : ""}</span>
    </button>
  );
}

/** The clipboard of the browser needs a secure origin; a selection works on any. */
async function write(text: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.createElement("textarea");
    area.value = text;
    area.className = "sr-only";
    document.body.append(area);
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}
