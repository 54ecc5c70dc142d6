/** Times as texts. */
import type { CelTimestamp } from '../values.js';

/** `2024-05-01T12:00:00.5+02:00`, in the zone it was written in, with as many decimals as it has. */
export function formatTimestamp({ nanos, offset }: CelTimestamp): string {
  const local = nanos + BigInt(offset) * 1_000_000_000n;
  const part = ((local % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n;
  const fraction = part === 0n ? '' : `.${String(part).padStart(9, '0').replace(/0+$/, '')}`;
  const date = new Date(Number((local - part) / 1_000_000n));
  // The year by hand: Date prints years beyond 9999, which a zone can bring about, in a form of its own.
  const year = String(date.getUTCFullYear()).padStart(4, '0');
  return `${year}${date.toISOString().slice(-20, -5)}${fraction}${formatOffset(offset)}`;
}

function formatOffset(offset: number): string {
  if (offset === 0) return 'Z';
  const minutes = Math.abs(Math.trunc(offset / 60));
  const [hour, minute] = [Math.floor(minutes / 60), minutes % 60];
  return `${offset < 0 ? '-' : '+'}${String(hour).padStart(2, '0')}:${String(minute).padStart(2, '0')}`;
}
