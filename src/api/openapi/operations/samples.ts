/** Values that the examples share. */
export const JSON_TYPE = 'application/json';

export const connection = { id: 'warehouse', name: 'Warehouse', type: 'sftp' };

export const transfer = {
  id: '0199c2f4-6f5e-7c1a-9a51-0d2f64b1c7e2',
  filename: 'report.pdf',
  path: '/upload/report.pdf',
  size: 48213,
  durationMs: 84,
  connection,
};

export const file = {
  name: 'report.pdf',
  path: '/upload/report.pdf',
  size: 48213,
  isDirectory: false,
  modifiedAt: '2026-01-31T12:00:00.000Z',
};

export const folder = {
  name: 'archive',
  path: '/upload/archive',
  size: 0,
  isDirectory: true,
  modifiedAt: '2026-01-30T08:15:00.000Z',
};
