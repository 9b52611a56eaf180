/** Texts of all forms. The contract has the texts of their fields. */
export const form = {
  save: 'Save',
  saved: 'Saved',
  more: 'More options',
  nowhere: 'Nowhere',
  notActive: (name: string): string => `${name} (not active)`,
  notUnit: (like: string): string => `A number and a unit, such as ${like}.`,
  or: ' or ',
};
