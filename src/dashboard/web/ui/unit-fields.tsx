/** Fields for a number with a unit. */
import { type ComponentProps, type ReactElement, useState } from 'react';
import { t } from '../texts/texts.ts';
import { type InputProps, TextField } from './fields.tsx';
import { bytesOf, secondsOf } from './units.ts';

/** A number and a unit, such as "10 MiB". */
function UnitField({
  likes,
  read,
  ...field
}: InputProps & {
  readonly value: string;
  /** Two examples of input. Units are English in every language. */
  readonly likes: readonly [string, string];
  readonly read: (text: string) => number | undefined;
}): ReactElement {
  // Show an error only after the user leaves the field, because the unit may not be typed yet.
  const [isLeft, setLeft] = useState(false);
  return (
    <TextField
      placeholder={likes[1]}
      {...field}
      onFocus={() => setLeft(false)}
      onBlur={() => setLeft(true)}
      error={isLeft && Number.isNaN(read(field.value)) ? t.form.notUnit(likes.join(t.form.or)) : undefined}
    />
  );
}

type OneUnit = Omit<ComponentProps<typeof UnitField>, 'likes' | 'read'>;

export const SizeField = (field: OneUnit): ReactElement => (
  <UnitField {...field} likes={['500 KiB', '10 MiB']} read={bytesOf} />
);
export const AgeField = (field: OneUnit): ReactElement => (
  <UnitField {...field} likes={['90 minutes', '7 days']} read={secondsOf} />
);
