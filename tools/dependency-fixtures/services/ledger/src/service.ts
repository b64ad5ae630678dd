export type Service = { db: unknown };
export const service = (): Service => ({ db: 1 });
