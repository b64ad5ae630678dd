/** The person closed the dialog instead of proving who it is. */
export class StepUpCancelled extends Error {}
