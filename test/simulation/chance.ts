/** Chance that follows from a seed alone (sfc32): every question draws, so the order of questions is part of it. */
export class Chance {
  #a: number;
  #b: number;
  #c: number;
  #counter = 1;

  constructor(seed: number) {
    this.#a = 0x9e3779b9 ^ seed;
    this.#b = 0x243f6a88 ^ Math.imul(seed, 0x85ebca6b);
    this.#c = Math.imul(seed ^ 0xb7e15162, 0xc2b2ae35);
    for (let i = 0; i < 12; i++) this.#next();
  }

  #next(): number {
    const sum = (this.#a + this.#b + this.#counter) | 0;
    this.#counter = (this.#counter + 1) | 0;
    this.#a = this.#b ^ (this.#b >>> 9);
    this.#b = (this.#c + (this.#c << 3)) | 0;
    this.#c = ((this.#c << 21) | (this.#c >>> 11)) + sum;
    return sum >>> 0;
  }

  /** In [0, 1). */
  readonly fraction = (): number => this.#next() / 0x1_0000_0000;

  /** An integer below `limit`. */
  below(limit: number): number {
    return Math.floor(this.fraction() * limit);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  /** True in so many of a hundred cases. */
  percent(chance: number): boolean {
    return this.fraction() * 100 < chance;
  }

  oneOf<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }

  readonly bytes = (size: number): Uint8Array => {
    const bytes = new Uint8Array(size);
    for (let i = 0; i < size; i += 4) {
      const word = this.#next();
      for (let k = 0; k < 4 && i + k < size; k++) bytes[i + k] = word >>> (8 * k);
    }
    return bytes;
  };
}
