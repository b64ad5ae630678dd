/** A merchant's own notes on a resource, as Stripe has them: key to text. Nothing in it means anything here. */
export type Metadata = Readonly<Record<string, string>>;
