export const payoutView = (payout: { id: string }) => ({ id: payout.id });
