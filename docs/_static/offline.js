/* Read from a disk, pages may not read each other: the search then shows titles without the lines around what was found. */
if (location.protocol === "file:" && typeof DOCUMENTATION_OPTIONS !== "undefined") DOCUMENTATION_OPTIONS.SHOW_SEARCH_SUMMARY = false;
