/** What becomes of a delivery, as its log names it. */
export const deliveryStates = ['waiting', 'sending', 'delivered', 'exhausted', 'cancelled'] as const;
export type DeliveryState = (typeof deliveryStates)[number];
