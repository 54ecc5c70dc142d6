/** Formats an age as kubectl does: `12s`, `3m`, `2h`, `5d`. */
export function ageText(now: number, since: string | undefined): string {
  if (since === undefined) return '';
  const seconds = Math.max(0, Math.round((now - Date.parse(since)) / 1_000));
  if (seconds < 120) return `${seconds}s`;
  if (seconds < 7_200) return `${Math.floor(seconds / 60)}m`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3_600)}h` : `${Math.floor(seconds / 86_400)}d`;
}
