@rem `npm start` says `exec node …`, so that npm's signals reach the gateway and not a shell. Windows has no exec: this runs what follows.
@%*
