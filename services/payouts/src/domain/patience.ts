export type Patience = {
  /** The same bytes are sent again after so long in no block. */
  resendAfterMs: number;
  /** What looks impossible may be a node that is late: the blocks are searched for it only after so long. */
  doubtForMs: number;
  /** After so long in no block, an attempt gets a successor that pays a higher fee. */
  stuckAfterMs: number;
};
