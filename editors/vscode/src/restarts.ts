/** Bounds how often a server that ends is started again. */
export class Restarts {
  private times: number[] = [];

  /** limit starts within window milliseconds. */
  constructor(readonly limit = 4, readonly window = 180_000) {}

  /** Reports whether there may be another start at a time (ms), and counts it. */
  another(now: number): boolean {
    this.times = this.times.filter((time) => now - time < this.window);
    if (this.times.length >= this.limit) return false;
    this.times.push(now);
    return true;
  }
}
