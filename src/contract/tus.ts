/** What both ends of a resumable upload name. This module imports no schemas, because pages and clients use it, too. */
import { MIB } from './units.js';

export const TUS_VERSION = '1.0.0';
/** The media type of a piece. */
export const PIECE_TYPE = 'application/offset+octet-stream';
/** To send a smaller file again costs less than the extra requests. */
export const RESUMABLE_BYTES = 64 * MIB;
