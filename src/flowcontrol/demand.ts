/**
 * How many seats a level could use, over time. Lending goes by it: seats are lent for the time in which they are not
 * wanted.
 */

/** Of what was wanted in the past, so much counts in the next period; half of it is forgotten in five minutes. */
const SMOOTHING = 0.977;
const MS_PER_SECOND = 1000;

export class Demand {
  #seats = 0;
  #since: number;
  /** Of the present period. */
  #elapsed = 0;
  #sum = 0;
  #squares = 0;
  #most = 0;
  /** The most at any moment of the last period. */
  highWatermark = 0;
  /** What may be expected: it follows the demand at once when that rises, and slowly when it falls. */
  smoothed = 0;

  constructor(now: number) {
    this.#since = now;
  }

  /** So many seats are in use or wanted from now on. */
  set(seats: number, now: number): void {
    this.#pass(now);
    this.#seats = seats;
    this.#most = Math.max(this.#most, seats);
  }

  /** Ends a period. */
  endPeriod(now: number): void {
    this.#pass(now);
    this.highWatermark = Math.round(this.#most);
    if (this.#elapsed > 0) {
      const average = this.#sum / this.#elapsed;
      const variance = this.#squares / this.#elapsed - average * average;
      const envelope = average + Math.sqrt(Math.max(0, variance));
      this.smoothed = Math.max(envelope, SMOOTHING * this.smoothed + (1 - SMOOTHING) * envelope);
    }
    this.#elapsed = this.#sum = this.#squares = 0;
    this.#most = this.#seats;
  }

  #pass(now: number): void {
    // A clock may be set back.
    const seconds = Math.max(0, now - this.#since) / MS_PER_SECOND;
    this.#since = now;
    this.#elapsed += seconds;
    this.#sum += this.#seats * seconds;
    this.#squares += this.#seats * this.#seats * seconds;
  }
}
