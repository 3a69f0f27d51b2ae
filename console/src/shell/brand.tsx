import './brand.css';

/** The name of the product with its mark. */
export function Brand() {
  return (
    <span className="brand">
      <svg aria-hidden="true" height="22" viewBox="0 0 32 32" width="22">
        <rect className="brand-ground" height="32" rx="8" width="32" />
        <path className="brand-line" d="M5 17h5.2l2.6-7.5 5.4 13 3.1-8.2 1.4 2.7H27" />
      </svg>
      dbvitals
    </span>
  );
}
