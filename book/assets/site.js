/* Small comforts; the pages are complete without them. */
"use strict";
{
  // A table that fits needs no scroll container, and then its head can stick below the site's header.
  const fit = (table) => {
    const box = table.closest(".table-scroll");
    box.classList.toggle("fits", table.offsetWidth <= box.clientWidth);
  };
  const observer = new ResizeObserver((entries) => entries.forEach(({ target }) => fit(target)));
  document.querySelectorAll(".table-scroll > table").forEach((table) => {
    observer.observe(table); // it changes when fonts arrive and when the window does
  });

  // Where the build did not know the site's address, the copyable command lines learn it here.
  document.querySelectorAll("[data-site-path]").forEach((place) => {
    place.textContent = new URL(place.dataset.sitePath, document.baseURI).href;
  });
}
