/** A dialog over the page. Its code is not part of the first load. */
import { part } from './part.tsx';

export const Overlay = part(() => import('./overlay-frame.tsx'), <></>);
