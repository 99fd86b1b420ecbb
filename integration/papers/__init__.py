"""Labels and manifests on paper: PDF and ZPL. In Portuguese, because people in Brazil read them. Nothing is stored."""
