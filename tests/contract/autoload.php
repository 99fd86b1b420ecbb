<?php

// Stands for what Composer makes of a generated client: its classes, and Guzzle of Debian's package.
require '/usr/share/php/GuzzleHttp/autoload.php';
spl_autoload_register(function (string $class): void {
    $file = dirname(__DIR__) . '/lib/' . str_replace('\\', '/', substr($class, strlen('Rota\\'))) . '.php';
    if (str_starts_with($class, 'Rota\\') && is_file($file)) {
        require $file;
    }
});
