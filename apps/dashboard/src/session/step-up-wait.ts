/** What waits for one step-up. Whatever asks while it waits waits for the same one: its answer counts for all of them. */
export class StepUpWait {
  #waiting: PromiseWithResolvers<void> | undefined;
  readonly #onChange: (isWaiting: boolean) => void;

  constructor(onChange: (isWaiting: boolean) => void) {
    this.#onChange = onChange;
  }

  get isWaiting(): boolean {
    return this.#waiting !== undefined;
  }

  ask(): Promise<void> {
    if (this.#waiting === undefined) {
      this.#waiting = Promise.withResolvers();
      this.#onChange(true);
    }
    return this.#waiting.promise;
  }

  end(how: 'shown' | 'cancelled'): void {
    const ended = this.#waiting;
    if (ended === undefined) return;
    this.#waiting = undefined;
    this.#onChange(false);
    if (how === 'shown') ended.resolve();
    else ended.reject(new StepUpCancelled('Nothing was done.'));
  }
}

/** The person closed the dialog instead of proving who it is. */
export class StepUpCancelled extends Error {}
