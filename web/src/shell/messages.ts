/** What a page says to a service worker: that one that waits is to be the one from now on; which build it is of. */
export type Said = "take_over" | "which_build";
