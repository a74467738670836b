/* Small comforts; the pages are complete without them. */
"use strict";
{
  // A table that fits needs no scroll container, and then its head can stick below the site's header.
  const fit = (box) => {
    box.classList.remove("fits");
    box.classList.toggle("fits", box.scrollWidth <= box.clientWidth);
  };
  const boxes = document.querySelectorAll(".table-scroll");
  const observer = new ResizeObserver((entries) => entries.forEach((entry) => fit(entry.target)));
  boxes.forEach((box) => observer.observe(box));

  // Where the build did not know the site's address, the copyable command lines learn it here.
  document.querySelectorAll("[data-site-path]").forEach((place) => {
    place.textContent = new URL(place.dataset.sitePath, document.baseURI).href;
  });
}
