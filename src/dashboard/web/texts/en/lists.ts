/** Texts of lists. */
export const lists = {
  columns: 'Columns',
  usualColumns: 'The usual columns',
};
