package config

import (
	"fmt"
	"os"

	"errand/catalog"
	"errand/catalog/load"
)

// Catalog loads the catalog file, or the built-in catalog for "".
func Catalog(file string) (*catalog.Catalog, error) {
	if file == "" {
		return load.Builtin(), nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("the catalog cannot be read (ERRAND_CATALOG): %w", err)
	}
	return load.Parse(file, text)
}
