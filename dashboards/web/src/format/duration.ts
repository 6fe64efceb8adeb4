/** Durations as the whole product writes them (`47m12s`), so that a number on the page is the number in the sentence. */

/** Whole seconds from ten seconds on, a tenth below, milliseconds below one second. */
export function duration(millis: number): string {
  const sign = millis < 0 ? "-" : "";
  const size = Math.abs(Math.trunc(millis));
  if (size < 1000) return size === 0 ? "0s" : `${sign}${size}ms`;
  const step = size >= 10_000 ? 1000 : 100;
  const whole = size - (size % step);
  const hours = Math.floor(whole / 3_600_000);
  const minutes = Math.floor((whole % 3_600_000) / 60_000);
  const seconds = (whole % 60_000) / 1000;
  return sign + (hours ? `${hours}h` : "") + (minutes ? `${minutes}m` : "") + (seconds ? `${seconds}s` : "");
}

/** The two largest parts only, for places where a column is narrow and seconds of a day do not matter: `3d4h`. */
export function brief(millis: number): string {
  const sign = millis < 0 ? "-" : "";
  const size = Math.abs(millis);
  const days = Math.floor(size / 86_400_000);
  const hours = Math.floor((size % 86_400_000) / 3_600_000);
  const minutes = Math.floor((size % 3_600_000) / 60_000);
  if (days) return `${sign}${days}d${hours ? `${hours}h` : ""}`;
  if (hours) return `${sign}${hours}h${minutes ? `${minutes}m` : ""}`;
  return duration(millis);
}
