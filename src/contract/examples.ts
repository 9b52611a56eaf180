/** Values that many examples share. */
export const ID = '0199c2f4-6f5e-7c1a-9a51-0d2f64b1a001';
export const TIME = '2026-01-31T12:00:00.000Z';
export const LATER = '2026-01-31T14:00:00.000Z';
export const FINGERPRINT_EXAMPLE = 'SHA256:JcZcCCIxYvmuu6qQUjUpBDiqZKCTZ3dcQkDJpdVqdYs';
export const TRANSFER_ID = '0199c2f4-6f5e-7c1a-9a51-0d2f64b1c7e2';
export const LINK_ID = '0199c2f4-6f5e-7c1a-9a51-0d2f64b1b001';
export const WEBHOOK_ID = '0199c2f4-6f5e-7c1a-9a51-0d2f64b1f001';
export const CONNECTION_EXAMPLE = { id: 'warehouse', name: 'Warehouse', type: 'sftp' } as const;
